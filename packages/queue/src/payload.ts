/** A payload against its contract's schema: at enqueue as a check, in the worker for the value that the handler gets. */
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { storableText } from './core/json.ts';
import { MAX_ISSUE_CHARACTERS, MAX_ISSUES } from './core/limits.ts';
import { describeThrown } from './core/thrown.ts';
import { InvalidPayloadError, PayloadSchemaError, type PayloadIssue } from './errors.ts';
import type { JobContract } from './job.ts';

/**
 * A promise only where the schema answers with one, or has something against the payload: it rejects and does not throw,
 * so that whoever awaits it goes on after its caller, whatever the payload.
 *
 * Rejects with InvalidPayloadError with the issues that the schema named, by path, the first twenty of them.
 * Rejects with PayloadSchemaError if the schema itself fails.
 */
export function parsePayload<Schema extends StandardSchemaV1>(
  contract: JobContract<Schema>,
  payload: unknown,
): StandardSchemaV1.InferOutput<Schema> | Promise<StandardSchemaV1.InferOutput<Schema>> {
  let answer: Answer | Promise<Result>;
  try {
    const result = contract.payload['~standard'].validate(payload);
    answer = isPromise(result) ? Promise.resolve(result) : readResult(result);
  } catch (cause) {
    return Promise.reject(schemaError(contract, cause));
  }
  return answer instanceof Promise || answer.issues ? parseLater(contract, answer) : answer.value;
}

async function parseLater(contract: JobContract, given: Answer | Promise<Result>): Promise<unknown> {
  let answer: Answer;
  try {
    answer = given instanceof Promise ? readResult(await given) : given;
  } catch (cause) {
    throw schemaError(contract, cause);
  }
  if (answer.issues) throw new InvalidPayloadError(contract.type, answer.issues);
  return answer.value;
}

type Result = StandardSchemaV1.Result<unknown>;

type Answer =
  | { readonly value: unknown; readonly issues?: undefined }
  | { readonly issues: readonly PayloadIssue[] };

/** Schemas are code of the app's: what they answer with is no more than promised. */
function readResult(result: Result): Answer {
  if (result.issues) return { issues: Array.from(result.issues).slice(0, MAX_ISSUES).map(readIssue) };
  if (!('value' in result)) throw new TypeError('neither of them');
  return { value: result.value };
}

function schemaError({ type }: JobContract, cause: unknown): PayloadSchemaError {
  const { message, stack } = describeThrown(cause);
  const error = new PayloadSchemaError(type, message, cause);
  // Where the schema failed, not where that was noticed.
  if (stack !== null) error.stack = `${error.name}: ${error.message}\n${stack}`;
  return error;
}

function isPromise(answer: Result | PromiseLike<Result>): answer is PromiseLike<Result> {
  return 'then' in answer && typeof answer.then === 'function';
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
