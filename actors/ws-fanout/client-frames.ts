import { z } from 'zod'
import { Channel, clientFrames, reqId, type SocketError } from '../../interface/socket.js'

/** A frame from a client; its market identifiers are not resolved yet. */
export type ClientFrame = { readonly reqId: string | undefined } & (
  | {
      readonly op: 'subscribe'
      readonly channel: Channel
      readonly market: string | undefined
      /** A non-negative integer, possibly beyond the newest sequence. */
      readonly sinceSeq: number | undefined
      /** The same by market, under any of its names. */
      readonly since: ReadonlyMap<string, number> | undefined
    }
  | {
      readonly op: 'unsubscribe'
      readonly channel: Channel
      readonly market: string | undefined
    }
  /** `fields` is the whole frame, unchecked. */
  | { readonly op: 'auth'; readonly fields: unknown }
  | { readonly op: 'ping' }
)

/** Why a frame is refused, as the fields of the error frame that answers it. */
export interface FrameProblem {
  readonly code: SocketError['code']
  /** The invalid field; absent when it is `op`. */
  readonly field?: string
  readonly reqId: string | undefined
}

const ops = Object.keys(clientFrames) as (keyof typeof clientFrames)[]
const word = z.string().transform((text) => text.trim().toLowerCase())
const opField = z.looseObject({
  op: word.pipe(z.enum(ops)),
})
const reqIdField = z.looseObject({ req_id: reqId })
const channelField = z.looseObject({ channel: word.pipe(Channel) })
const marketField = z.looseObject({ market: z.string().optional() })
const sequence = z.number().refine((value) => Number.isInteger(value) && value >= 0)
const sinceSeqField = z.looseObject({ since_seq: sequence.optional() })
const sinceField = z.looseObject({
  since: z
    .record(z.string(), sequence)
    .transform((seqs) => new Map(Object.entries(seqs)))
    .optional(),
})

/** Reads one text frame; reports the first error in it. */
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
  const fail = (code: SocketError['code'], field?: string) => ({
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
