/** Why a delivery did not come to its receiver. Messages name the endpoint by id: a URL may hold a secret. */

/** The receiver could not be reached, did not answer in time, or answered with something else than 2xx. */
export class DeliveryFailedError extends Error {
  readonly code = 'DELIVERY_FAILED';
  override readonly name = 'DeliveryFailedError';
}

/** The receiver's address is not one of the public internet. Nothing was sent, nor connected to. */
export class PrivateAddressError extends Error {
  readonly code = 'PRIVATE_ADDRESS';
  override readonly name = 'PrivateAddressError';

  constructor(host: string, address: string) {
    const found = host === address ? host : `${host}, which is ${address}`;
    super(`expected a public address, found ${found}`);
  }
}
