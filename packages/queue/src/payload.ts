/** A payload against its contract's schema: at enqueue as a check, in the worker for the value that the handler gets. */
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { storableText } from './core/json.ts';
import { MAX_ISSUE_CHARACTERS, MAX_ISSUES } from './core/limits.ts';
import { describeThrown } from './core/thrown.ts';
import { InvalidPayloadError, PayloadSchemaError, type PayloadIssue } from './errors.ts';
import type { JobContract } from './job.ts';

/**
 * @throws InvalidPayloadError with the issues that the schema named, by path, the first twenty of them.
 * @throws PayloadSchemaError if the schema itself fails.
 */
export async function parsePayload<Schema extends StandardSchemaV1>(
  contract: JobContract<Schema>,
  payload: unknown,
): Promise<StandardSchemaV1.InferOutput<Schema>> {
  const answer = await askSchema(contract, payload);
  if (answer.issues) throw new InvalidPayloadError(contract.type, answer.issues);
  return answer.value;
}

type Answer =
  | { readonly value: unknown; readonly issues?: undefined }
  | { readonly issues: readonly PayloadIssue[] };

/** Schemas are code of the app's: they throw, and what they answer with is no more than promised. */
async function askSchema({ type, payload: schema }: JobContract, payload: unknown): Promise<Answer> {
  try {
    const result = await schema['~standard'].validate(payload);
    if (result.issues) return { issues: Array.from(result.issues).slice(0, MAX_ISSUES).map(readIssue) };
    if (!('value' in result)) throw new TypeError('neither of them');
    return { value: result.value };
  } catch (cause) {
    const { message, stack } = describeThrown(cause);
    const error = new PayloadSchemaError(type, message, cause);
    // Where the schema failed, not where that was noticed.
    if (stack !== null) error.stack = `${error.name}: ${error.message}\n${stack}`;
    throw error;
  }
}

function readIssue({ message, path = [] }: StandardSchemaV1.Issue): PayloadIssue {
  const keys = path.map((segment) => (typeof segment === 'object' ? segment.key : segment));
  const spelled = keys.map((key, index) =>
    typeof key === 'number' ? `[${key}]` : index === 0 ? String(key) : `.${String(key)}`,
  );
  return {
    path: storableText(spelled.join('') || 'payload', MAX_ISSUE_CHARACTERS),
    message: storableText(message, MAX_ISSUE_CHARACTERS),
  };
}
