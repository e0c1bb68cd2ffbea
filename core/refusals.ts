/**
 * A refusal is a value: what the venue answers to a request it will not carry out. Every message of the interface's
 * section 7 stands in this table once.
 */
export interface Refusal {
  /** Stable and machine-readable; the additive `code` of an error body (decision C15). */
  readonly code: string
  /** HTTP status on the order endpoints. */
  readonly status: number
  /** Text of the body's `error`, exactly as the interface words it. */
  readonly message: string
  readonly field?: string
  readonly detail?: Readonly<Record<string, unknown>>
  /** The stored order that an identical resubmission repeats (decision B9). */
  readonly existingOrderId?: string
}
