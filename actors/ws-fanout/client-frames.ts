import { z } from 'zod'
import { DEFAULT_LEVEL_DEPTH, LEVEL_DEPTHS, LevelDepth } from '../../interface/market-data.js'
import { nestsDeeperThan } from '../../runtime/http/read-body.js'
import { Channel, clientFrames, reqId, type SocketError } from '../../interface/socket.js'
import { CandleInterval } from '../../interface/trade.js'
import { resumePoint } from '../../interface/values.js'

/** A frame from a client; its market identifiers are not resolved yet. */
export type ClientFrame =
  | ({ readonly reqId: string | undefined } & ReadingFrame)
  /** An order, or what changes one, as its JSON text, unchecked. */
  | { readonly op: OrderOp; readonly reqId: string; readonly body: string }
  /** `fields` is the whole frame, unchecked. */
  | { readonly op: 'cancel_all'; readonly reqId: string; readonly fields: unknown }

/** What is asked of one order. */
export type OrderOp = 'place' | 'cancel' | 'replace' | 'reduce'
const ORDER_OPS: ReadonlySet<string> = new Set<OrderOp>(['place', 'cancel', 'replace', 'reduce'])
const isOrderOp = (op: string): op is OrderOp => ORDER_OPS.has(op)

type ReadingFrame =
  | {
      readonly op: 'subscribe'
      readonly channel: Channel
      readonly market: string | undefined
      /** Of `levels`. */
      readonly depth: LevelDepth
      /** Of `candles`. */
      readonly interval: CandleInterval
      /** A non-negative integer, possibly beyond the newest sequence. */
      readonly sinceSeq: number | undefined
      /** The same by market, under any of its names. */
      readonly since: ReadonlyMap<string, number> | undefined
    }
  | {
      readonly op: 'unsubscribe'
      readonly channel: Channel
      readonly market: string | undefined
      readonly depth: LevelDepth
      readonly interval: CandleInterval
    }
  /** `fields` is the whole frame, unchecked. */
  | { readonly op: 'auth'; readonly fields: unknown }
  /** `fields` is the whole frame, unchecked. */
  | { readonly op: 'cancel_on_disconnect' | 'cancel_all_after'; readonly fields: unknown }
  | { readonly op: 'ping' }

/** Why a frame is refused, as the fields of the error frame that answers it. */
export interface FrameProblem {
  readonly code: SocketError['code']
  /** The invalid field; absent when it is `op`. */
  readonly field?: string
  readonly reqId: string | undefined
  /** Replaces the code's usual text. */
  readonly message?: string
}

/** Deepest nesting of a frame with an order; the same as of a request's body, in a frame. */
const MAX_ORDER_DEPTH = 9

const ops = Object.keys(clientFrames) as (keyof typeof clientFrames)[]
const word = z.string().transform((text) => text.trim().toLowerCase())
const opField = z.looseObject({
  op: word.pipe(z.enum(ops)),
})
const reqIdField = z.looseObject({ req_id: reqId })
const channelField = z.looseObject({ channel: word.pipe(Channel) })
const marketField = z.looseObject({ market: z.string().optional() })
/** Of a channel that reads neither. */
const NO_OPTIONS: Options = { depth: DEFAULT_LEVEL_DEPTH, interval: '1h' }
const depthField = z.looseObject({ depth: LevelDepth.default(DEFAULT_LEVEL_DEPTH) })
const intervalField = z.looseObject({ interval: CandleInterval })
const sinceSeqField = z.looseObject({ since_seq: resumePoint.optional() })
const sinceField = z.looseObject({
  since: z
    .record(z.string(), resumePoint)
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
  const fail = (code: SocketError['code'], field?: string, message?: string) => ({
    problem: { code, reqId, ...(field && { field }), ...(message && { message }) },
  })
  const op = opField.safeParse(body).data?.op
  if (op === undefined) return fail('bad_op')
  if (!reqIdField.safeParse(body).success) return fail('bad_op', 'req_id')
  if (op === 'ping') return { frame: { op, reqId } }
  if (op === 'auth') return { frame: { op, reqId, fields: body } }
  if (op === 'cancel_all' || isOrderOp(op)) {
    if (reqId === undefined) return fail('bad_op', 'req_id')
    if (nestsDeeperThan(Buffer.from(text), MAX_ORDER_DEPTH)) return fail('bad_json')
    if (op === 'cancel_all') return { frame: { op, reqId, fields: body } }
    const { order } = body as { readonly order?: unknown }
    return { frame: { op, reqId, body: JSON.stringify(order ?? null) } }
  }
  if (op === 'cancel_on_disconnect' || op === 'cancel_all_after') {
    return { frame: { op, reqId, fields: body } }
  }

  const channel = channelField.safeParse(body).data?.channel
  if (channel === undefined) return fail('bad_channel')
  const market = marketField.safeParse(body)
  if (!market.success) return fail('unknown_market')
  const options = readOptions(channel, body)
  if ('code' in options) return fail(options.code, options.field, options.message)
  const scope = { channel, market: market.data.market, ...options }
  if (op === 'unsubscribe') return { frame: { op, reqId, ...scope } }

  const sinceSeq = sinceSeqField.safeParse(body)
  if (!sinceSeq.success) return fail('bad_op', 'since_seq')
  const since = sinceField.safeParse(body)
  if (!since.success) return fail('bad_op', 'since')
  const { since_seq } = sinceSeq.data
  return { frame: { op, reqId, ...scope, sinceSeq: since_seq, since: since.data.since } }
}

interface Options {
  readonly depth: LevelDepth
  readonly interval: CandleInterval
}

type OptionProblem = Pick<FrameProblem, 'code' | 'message'> & { readonly field: string }

/**
 * The options of the channel, or why one is refused. Candles without an interval are not a channel, as for a client that knows the
 * interface alone.
 */
function readOptions(channel: Channel, body: unknown): Options | OptionProblem {
  if (channel === 'levels') {
    const read = depthField.safeParse(body)
    if (read.success) return { ...NO_OPTIONS, depth: read.data.depth }
    const message = `depth must be one of ${LEVEL_DEPTHS.join(', ')}`
    return { code: 'bad_op', field: 'depth', message }
  }
  if (channel !== 'candles') return NO_OPTIONS
  const read = intervalField.safeParse(body)
  if (read.success) return { ...NO_OPTIONS, interval: read.data.interval }
  if (!('interval' in (body as object))) return { code: 'bad_channel', field: 'interval' }
  const message = `interval must be one of ${CandleInterval.options.join(', ')}`
  return { code: 'bad_op', field: 'interval', message }
}
