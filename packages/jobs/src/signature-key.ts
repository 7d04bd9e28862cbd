/**
 * The key behind an endpoint's secret, as Standard Webhooks has it: `whsec_` and the base64 of 24 to 64 bytes. Secrets
 * of any other form are taken as they are, byte by byte, from 16 to 128 characters.
 */

/** The HMAC key, or undefined where the secret is too short, too long or no base64. */
export function signatureKey(secret: string): Buffer | undefined {
  if (!secret.startsWith(PREFIX)) {
    return secret.length >= 16 && secret.length <= 128 ? Buffer.from(secret) : undefined;
  }
  const encoded = secret.slice(PREFIX.length);
  const key = Buffer.from(encoded, 'base64');
  // Node skips what is no base64, so that only the way back shows it.
  const isBase64 = key.toString('base64').replace(/=+$/, '') === encoded.replace(/=+$/, '');
  return isBase64 && key.length >= 24 && key.length <= 64 ? key : undefined;
}

const PREFIX = 'whsec_';
