import type { Socket } from 'node:net'
import { readRefusals } from '../core/entry/read-refusals.js'
import { RETRY_AFTER_SEC } from '../core/entry/sent-again.js'
import { nextTurn } from '../runtime/http/answer-bytes.js'
import { clientAddress, clientKey } from '../runtime/http/connections.js'
import { refuse, type GatewayContext, type GatewayDeps, type Handler } from './context.js'
import type { ReadsInFlight } from './reads-in-flight.js'

/**
 * The handler, for whose large reads a client waits its turn, or is answered 503 when too many of its address are in
 * flight.
 */
export function boundLargeReads(
  handle: Handler,
  isLarge: (ctx: GatewayContext) => boolean,
  {
    reads,
    trustedProxies,
  }: { readonly reads: ReadsInFlight } & Pick<GatewayDeps, 'trustedProxies'>,
): Handler {
  return async (ctx) => {
    if (!isLarge(ctx)) return handle(ctx)
    const leave = reads.enter(clientKey(clientAddress(ctx.req, trustedProxies)))
    if (leave === undefined) {
      refuse(ctx, readRefusals.tooManyReads)
      // A connection of a proxy carries requests of other clients too.
      if (trustedProxies === 0) holdBack(ctx)
      return
    }
    leaveWhenOver(ctx, leave)
    await nextTurn()
    await handle(ctx)
  }
}

/** What ends the large reads in flight on a connection. */
const inFlightOn = new WeakMap<Socket, Set<() => void>>()

/** Ends a read with its answer or, because an answer that waits behind another has no end then, with its connection. */
function leaveWhenOver({ req: { socket }, res }: HttpExchange, leave: () => void): void {
  const inFlight = inFlightOn.get(socket) ?? followConnection(socket)
  inFlight.add(leave)
  res.once('close', () => {
    if (inFlight.delete(leave)) leave()
  })
  if (socket.destroyed) endAll(inFlight)
}

function followConnection(socket: Socket): Set<() => void> {
  const inFlight = new Set<() => void>()
  inFlightOn.set(socket, inFlight)
  socket.once('close', () => endAll(inFlight))
  return inFlight
}

function endAll(inFlight: Set<() => void>): void {
  for (const leave of inFlight) leave()
  inFlight.clear()
}

type HttpExchange = Pick<GatewayContext, 'req' | 'res'>

const heldBack = new WeakSet<Socket>()

/**
 * Reads nothing more from a refused client's connection before it may ask again, so that a client which ignores
 * `Retry-After` costs nothing meanwhile. One that has already sent more requests is disconnected.
 */
function holdBack({ req, res }: HttpExchange): void {
  const { socket } = req
  if (heldBack.has(socket)) return void socket.destroy()
  heldBack.add(socket)
  res.once('finish', () => {
    socket.pause()
    setTimeout(() => {
      heldBack.delete(socket)
      socket.resume()
    }, RETRY_AFTER_SEC * 1_000).unref()
  })
}
