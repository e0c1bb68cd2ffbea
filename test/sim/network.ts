import type { Random } from './random.js'
import type { Actor, World } from './world.js'

/** How badly the network behaves at the moment; probabilities are per message. */
export interface Weather {
  /** Longest ordinary delay, milliseconds. */
  delayMs: number
  /** A message takes this much longer, with probability `stalls`. */
  stallMs: number
  stalls: number
  /** An append is stored and its acknowledgement lost. */
  lostAcks: number
  /** An append never arrives. */
  lostAppends: number
  /** An append arrives after it was given up. */
  lateAppends: number
  /** A message without a fence is stored twice. */
  doubledAppends: number
  /** A request to the node gets no answer at all; the node may have done it. */
  lostCalls: number
  /** The node refuses the connection. */
  refusedCalls: number
  /** A question or an answer of core messaging is lost. */
  lostAsks: number
  /** A process dies at a labelled point that it passes. */
  atPoints: number
}

export const FAIR: Weather = {
  delayMs: 3,
  stallMs: 0,
  stalls: 0,
  lostAcks: 0,
  lostAppends: 0,
  lateAppends: 0,
  doubledAppends: 0,
  lostCalls: 0,
  refusedCalls: 0,
  lostAsks: 0,
  atPoints: 0,
}

/** The wires: whatever goes from one actor to another takes its time here and may be lost. */
export interface Network {
  readonly world: World
  readonly random: Random
  readonly weather: Weather
  /** Acts for what is on its way and for servers that never die. */
  readonly wire: Actor
  /** Carries something; `order` keeps what goes over one connection in its order. */
  readonly carry: (to: Actor, order: Order | undefined, deliver: () => void) => void
}

/** A connection's direction: nothing overtakes. */
export interface Order {
  lastMs: number
}

export function createNetwork(
  world: World,
  random: Random,
  onFailure: Actor['onFailure'],
): Network {
  const weather = { ...FAIR }
  const wire: Actor = { name: 'wire', alive: true, skewMs: 0, onFailure }
  return {
    world,
    random,
    weather,
    wire,
    carry(to, order, deliver) {
      const stall = random.chance(weather.stalls) ? random.int(weather.stallMs) : 0
      const arrival = world.elapsedMs() + random.int(weather.delayMs + 1) + stall
      const atMs = Math.max(arrival, order?.lastMs ?? 0)
      if (order !== undefined) order.lastMs = atMs
      world.after(to, atMs - world.elapsedMs(), deliver)
    },
  }
}
