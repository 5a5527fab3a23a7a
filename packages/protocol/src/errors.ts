/**
 * The closed set of error codes (SPEC 9). A code is public: add freely, rename never.
 * `status` is the HTTP status it travels under; `retryable` says whether the same command may succeed later.
 */
export const ERROR_CODES = {
  // requests
  invalid_request: { status: 400, retryable: false },
  invalid_offset: { status: 400, retryable: false },
  unauthenticated: { status: 401, retryable: false },
  forbidden: { status: 403, retryable: false },
  not_found: { status: 404, retryable: false },
  unknown_session: { status: 404, retryable: false },
  unknown_command: { status: 400, retryable: false },
  too_large: { status: 413, retryable: false },
  reset: { status: 409, retryable: false },
  key_reused: { status: 409, retryable: false },
  overloaded: { status: 503, retryable: true },
  too_many_requests: { status: 429, retryable: true },
  internal: { status: 500, retryable: true },
  // messages and runs
  unknown_run: { status: 404, retryable: false },
  unknown_node: { status: 404, retryable: false },
  session_closed: { status: 409, retryable: false },
  message_exists: { status: 409, retryable: false },
  run_active: { status: 409, retryable: true },
  run_ended: { status: 409, retryable: false },
  run_held: { status: 409, retryable: false },
  calls_pending: { status: 409, retryable: false },
  budget_exceeded: { status: 409, retryable: false },
  // attempts
  attempt_fenced: { status: 409, retryable: false },
  sequence_gap: { status: 409, retryable: true },
  sequence_violation: { status: 409, retryable: false },
  step_settled: { status: 409, retryable: false },
  // calls
  unknown_call: { status: 404, retryable: false },
  not_ready: { status: 409, retryable: true },
  not_executor: { status: 403, retryable: false },
  approval_required: { status: 409, retryable: false },
  not_approver: { status: 403, retryable: false },
  stale_decision: { status: 409, retryable: false },
  edit_unsupported: { status: 409, retryable: false },
  invalid_arguments: { status: 422, retryable: false },
  invalid_result: { status: 422, retryable: false },
  claim_held: { status: 409, retryable: true },
  claim_lost: { status: 409, retryable: false },
  not_claimed: { status: 409, retryable: false },
  retry_unsafe: { status: 409, retryable: false },
  already_answered: { status: 409, retryable: false },
  call_settled: { status: 409, retryable: false },
  result_too_large: { status: 413, retryable: false },
  tool_name_taken: { status: 409, retryable: false },
  // raised by clients, never sent
  unreachable: { status: 503, retryable: true },
  closed: { status: 409, retryable: false },
} as const satisfies Record<string, { status: number; retryable: boolean }>;

export type ErrorCode = keyof typeof ERROR_CODES;

/** A refusal as it travels: what happened and what to do, in `message`; facts for programs, in `details`. */
export interface Rejection {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** The one error class of every Holdfast package. Its `code` is one of {@link ERROR_CODES}. */
export class HoldfastError extends Error {
  readonly code: ErrorCode;
  readonly details: Readonly<Record<string, unknown>> | undefined;

  constructor(rejection: Rejection, options?: { cause?: unknown }) {
    super(rejection.message, options);
    this.name = "HoldfastError";
    this.code = rejection.code;
    this.details = rejection.details;
  }

  get status(): number {
    return ERROR_CODES[this.code].status;
  }

  get retryable(): boolean {
    return ERROR_CODES[this.code].retryable;
  }

  /** The refusal without its stack, for the wire. */
  toRejection(): Rejection {
    return {
      code: this.code,
      message: this.message,
      ...(this.details && { details: this.details }),
    };
  }
}

/** Builds a rejection; `details` is left out when empty. */
export function reject(
  code: ErrorCode,
  message: string,
  details?: Record<string, unknown>,
): Rejection {
  return details ? { code, message, details } : { code, message };
}
