/** Arguments that cannot be used. */
export class SettingsError extends Error {
  readonly code = 'INVALID_SETTINGS';
  override readonly name = 'SettingsError';
}

/** A fleet that could not be measured: the message says why, with what its process wrote last. */
export class FleetError extends Error {
  readonly code = 'FLEET_FAILED';
  override readonly name = 'FleetError';
}
