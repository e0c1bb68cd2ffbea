import { channel } from 'node:diagnostics_channel'

/** Trace spans of a request to place or cancel an order, in their order, each by what ends it and with the process in which it lies. */
export const TRACE_SPANS = {
  /** Its head has been read. */
  received: 'gateway',
  /** It has come over the bus. */
  taken: 'order-intake',
  /** Its checks are done, those by the chain too. */
  verified: 'order-intake',
  /** Its id and nonce are claimed; a cancel ends it as well. */
  claimed: 'order-intake',
  /** Its command is durable in the log. */
  logged: 'order-intake',
  /** The step has decided it. */
  matched: 'matcher',
  /** Its block is durable in the feed. */
  durable: 'matcher',
  /** Its answer is handed to the connection. */
  answered: 'gateway',
} as const

export type TraceSpan = keyof typeof TRACE_SPANS

/** The end of a trace span of a request. */
export interface SpanEnd {
  readonly span: TraceSpan
  readonly requestId: string
}

/** Where ends of spans are published; `npm run profile -- order-path --slowest` listens. */
export const SPAN_ENDS = 'venue.order.span'
const spanEnds = channel(SPAN_ENDS)

/** Ends a span of some requests. Does nothing unless a tracer listens. */
export function endSpan(
  span: TraceSpan,
  requests: Iterable<{ readonly requestId?: string }>,
): void {
  if (!spanEnds.hasSubscribers) return
  for (const { requestId } of requests) {
    if (requestId !== undefined) spanEnds.publish({ span, requestId } satisfies SpanEnd)
  }
}
