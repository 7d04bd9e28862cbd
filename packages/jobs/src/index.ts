/** The example app's job contracts, and what its web app and worker have to agree on beside them. */
export { deliveryReport } from './delivery-report.ts';
export { isPublicAddress, isPublicHost } from './public-address.ts';
export { signatureKey } from './signature-key.ts';
export { webhookDelivery } from './webhook-delivery.ts';
