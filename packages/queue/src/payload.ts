/** A payload against its contract's schema: at enqueue as a check, in the worker for the value that the handler gets. */
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { InvalidPayloadError, type PayloadIssue } from './errors.ts';
import type { JobContract } from './job.ts';

/** @throws InvalidPayloadError with every issue that the schema named, by path. */
export async function parsePayload<Schema extends StandardSchemaV1>(
  contract: JobContract<Schema>,
  payload: unknown,
): Promise<StandardSchemaV1.InferOutput<Schema>> {
  const result = await contract.payload['~standard'].validate(payload);
  if (result.issues) throw new InvalidPayloadError(contract.type, result.issues.map(readIssue));
  return result.value;
}

function readIssue({ message, path = [] }: StandardSchemaV1.Issue): PayloadIssue {
  const keys = path.map((segment) => (typeof segment === 'object' ? segment.key : segment));
  const spelled = keys.map((key, index) =>
    typeof key === 'number' ? `[${key}]` : index === 0 ? String(key) : `.${String(key)}`,
  );
  return { path: spelled.join('') || 'payload', message };
}
