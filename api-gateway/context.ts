import type Koa from 'koa'
import type { Market } from '../core/market.js'
import type { Bus } from '../bus-schemas/bus.js'
import type { Logger } from '../bus-schemas/log.js'
import type { ReadModel } from '../data/read-model.js'
import type { OwnWrites } from './own-writes.js'
import type { Readiness } from './readiness.js'
import type { FrameWords } from '../core/frame-message.js'

/** What the gateway's routes work with; everything is given, nothing is opened here. */
export interface GatewayDeps {
  readonly bus: Bus
  /** All markets of the deployment, disabled ones included. */
  readonly markets: readonly Market[]
  readonly readModel: ReadModel
  readonly ownWrites: OwnWrites
  readonly readiness: Readiness
  /** From this unix millisecond on deprecated market identifiers no longer resolve. */
  readonly aliasCutoffMs: number
  /** What frames that a wallet signed come in and say. */
  readonly auth: ServiceAuth
  /** How many proxies of our own stand in front and append to `X-Forwarded-For`. */
  readonly trustedProxies: number
  /** Unix milliseconds. */
  readonly nowMs: () => number
  readonly log: Logger
}

/** The configurable words of message-signed frames (decision A14). */
export interface ServiceAuth {
  /** Name of the header that carries a frame. */
  readonly header: string
  readonly words: FrameWords
}

export interface GatewayState {
  requestId: string
  /** What the request's log line says besides method, path, status and time. */
  logged: Record<string, unknown>
  /** The answer's body where it is JSON text already; it goes before what Koa has for a body. */
  json: string | undefined
  /** The declared body was read to its end, so that the connection may be used again. */
  bodyRead: boolean
}

export type GatewayContext = Koa.ParameterizedContext<GatewayState> & {
  readonly params: Readonly<Record<string, string>>
}

/** Answers one endpoint: sets status and body, or throws what the error funnel turns into a 500. */
export type Handler = (ctx: GatewayContext) => void | Promise<void>
