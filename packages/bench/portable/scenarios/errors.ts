/** A scenario that could not be run to its end: the message says why, with what the adapter wrote last. */
export class ScenarioError extends Error {
  readonly code = 'SCENARIO_FAILED';
  override readonly name = 'ScenarioError';
}

/** Arguments that cannot be used. */
export class SettingsError extends Error {
  readonly code = 'INVALID_SETTINGS';
  override readonly name = 'SettingsError';
}
