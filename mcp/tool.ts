import type { OutcomeUnknown } from '../client/index.js'

/** A JSON schema. */
export type Schema = Readonly<Record<string, unknown>>

/** What an assistant may call. */
export interface Tool {
  readonly name: string
  readonly description: string
  /** Of its arguments: an object that takes no others. */
  readonly inputSchema: ObjectSchema
  /** Whether it changes nothing at the venue. */
  readonly isRead: boolean
  /** Resolves with what is answered, as JSON. Throws VenueError, BadOrderTerms, ToolRefused or OrderWithoutOutcome. */
  readonly call: (given: Arguments) => Promise<unknown>
}

export interface ObjectSchema extends Schema {
  readonly type: 'object'
  readonly properties: Readonly<Record<string, Schema>>
  readonly required: readonly string[]
  readonly additionalProperties: false
}

/** Arguments of a call, as their schema has them. */
export type Arguments = Readonly<Record<string, unknown>>

/** This program refuses a call that the venue was not asked for. */
export class ToolRefused extends Error {
  override readonly name = 'ToolRefused'
  constructor(
    /** Stable, for programs. */
    readonly code: string,
    message: string,
    readonly cure: string,
  ) {
    super(message)
  }
}

/** An order was sent, and the venue has not said what became of it: it may be placed. */
export class OrderWithoutOutcome extends Error {
  override readonly name = 'OrderWithoutOutcome'
  constructor(
    readonly orderId: string,
    override readonly cause: OutcomeUnknown,
  ) {
    super(cause.message, { cause })
  }
}

export const objectSchema = (
  properties: Readonly<Record<string, Schema>>,
  required: readonly string[],
): ObjectSchema => ({ type: 'object', properties, required, additionalProperties: false })
