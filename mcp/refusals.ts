import { BadOrderTerms, OutcomeUnknown, VenueRefused } from '../client/index.js'
import { errorCodes } from '../interface/error-codes.js'
import { OrderWithoutOutcome, ToolRefused } from './tool.js'

/** Why a call did nothing, or is not known to have done it, and what to do about it. */
export interface Refusal {
  readonly code: string
  readonly error: string
  /** What to do. */
  readonly cure: string
  /** Of an order that may be placed. */
  readonly order_id?: string
  /** Seconds after which the same call may be made again. */
  readonly retry_after_seconds?: number
  /** The rest of the venue's answer: the field that is wrong, facts that help to correct it. */
  readonly answer?: Readonly<Record<string, unknown>>
}

/** Without an answer. */
const UNKNOWN = 'Nothing is known of what became of it.'
const LOOK_UP =
  'The order may be placed. Look its order_id up; if it is not found, place it again under the same order_id, never under another.'

/** The refusal that an error is; undefined of any other error. */
export function refusalOf(error: unknown): Refusal | undefined {
  if (error instanceof ToolRefused)
    return { code: error.code, error: error.message, cure: error.cure }
  if (error instanceof BadOrderTerms)
    return { code: 'bad_order_terms', error: error.message, cure: 'Correct the terms.' }
  if (error instanceof VenueRefused) {
    const { code, message, body, retryAfterSec } = error
    return {
      code,
      error: message,
      cure: cureOf(code),
      answer: body,
      ...(retryAfterSec !== undefined && { retry_after_seconds: retryAfterSec }),
    }
  }
  if (error instanceof OrderWithoutOutcome) {
    const { code, retryAfterSec } = error.cause
    return {
      code,
      error: error.message,
      cure: LOOK_UP,
      order_id: error.orderId,
      ...(retryAfterSec !== undefined && { retry_after_seconds: retryAfterSec }),
    }
  }
  if (error instanceof OutcomeUnknown) {
    const { code, message, retryAfterSec } = error
    return {
      code,
      error: message,
      cure: code === 'no_answer' ? UNKNOWN : cureOf(code),
      ...(retryAfterSec !== undefined && { retry_after_seconds: retryAfterSec }),
    }
  }
  return undefined
}

interface Row {
  readonly name: RegExp
  readonly cure: string
}

/** The codes of the venue's table; a word in angle brackets stands for one of several, and such codes come last. */
const ROWS: readonly Row[] = [...errorCodes.values()]
  .flat()
  .toSorted((a, b) => Number(a.code.includes('<')) - Number(b.code.includes('<')))
  .map(({ code, cure }) => ({ name: new RegExp(`^${code.replace(/<[^>]+>/g, '\\w+')}$`), cure }))

/** What the venue's documents say to do about a code. */
export const cureOf = (code: string): string =>
  ROWS.find(({ name }) => name.test(code))?.cure ?? 'See /docs/codes of the venue.'
