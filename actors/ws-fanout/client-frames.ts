import { z } from 'zod'
import { MAX_REQ_ID_CHARS } from './limits.js'
import type { ErrorCode } from './server-frames.js'

/** What a client may ask for; market identifiers are not resolved yet. */
export type ClientFrame = { readonly reqId: string | undefined } & (
  | {
      readonly op: 'subscribe'
      readonly channel: ChannelName
      readonly market: string | undefined
      /** An integer that is not negative, possibly beyond any sequence. */
      readonly sinceSeq: number | undefined
      /** The same for each of several markets, by any of their names. */
      readonly since: ReadonlyMap<string, number> | undefined
    }
  | {
      readonly op: 'unsubscribe'
      readonly channel: ChannelName
      readonly market: string | undefined
    }
  /** `fields` is the whole frame, not looked at yet. */
  | { readonly op: 'auth'; readonly fields: unknown }
  | { readonly op: 'ping' }
)

export type ChannelName = 'book' | 'trades' | 'orders'

/** Why a frame is not one of these, in the words of the error frame that answers it. */
export interface FrameProblem {
  readonly code: ErrorCode
  /** The field at fault, when it is not the op itself. */
  readonly field?: string
  readonly reqId: string | undefined
}

const word = z.string().transform((text) => text.trim().toLowerCase())
const opField = z.looseObject({
  op: word.pipe(z.enum(['subscribe', 'unsubscribe', 'auth', 'ping'])),
})
const reqIdField = z.looseObject({ req_id: z.string().max(MAX_REQ_ID_CHARS).optional() })
const channelField = z.looseObject({ channel: word.pipe(z.enum(['book', 'trades', 'orders'])) })
const marketField = z.looseObject({ market: z.string().optional() })
const sequence = z.number().refine((value) => Number.isInteger(value) && value >= 0)
const sinceSeqField = z.looseObject({ since_seq: sequence.optional() })
const sinceField = z.looseObject({
  since: z
    .record(z.string(), sequence)
    .transform((seqs) => new Map(Object.entries(seqs)))
    .optional(),
})

/** Reads one text frame. The first thing wrong with it is the answer. */
export function parseClientFrame(
  text: string,
): { readonly frame: ClientFrame } | { readonly problem: FrameProblem } {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    return { problem: { code: 'bad_json', reqId: undefined } }
  }
  const reqId = reqIdField.safeParse(body).data?.req_id
  const fail = (code: ErrorCode, field?: string) => ({
    problem: { code, reqId, ...(field === undefined ? {} : { field }) },
  })
  const op = opField.safeParse(body).data?.op
  if (op === undefined) return fail('bad_op')
  if (!reqIdField.safeParse(body).success) return fail('bad_op', 'req_id')
  if (op === 'ping') return { frame: { op, reqId } }
  if (op === 'auth') return { frame: { op, reqId, fields: body } }

  const channel = channelField.safeParse(body).data?.channel
  if (channel === undefined) return fail('bad_channel')
  const market = marketField.safeParse(body)
  if (!market.success) return fail('unknown_market')
  if (op === 'unsubscribe') return { frame: { op, reqId, channel, market: market.data.market } }

  const sinceSeq = sinceSeqField.safeParse(body)
  if (!sinceSeq.success) return fail('bad_op', 'since_seq')
  const since = sinceField.safeParse(body)
  if (!since.success) return fail('bad_op', 'since')
  const { since_seq } = sinceSeq.data
  const scope = { channel, market: market.data.market }
  return { frame: { op, reqId, ...scope, sinceSeq: since_seq, since: since.data.since } }
}
