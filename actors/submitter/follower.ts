import { setTimeout as delay } from 'node:timers/promises'
import { ChainUnreachable } from '../../chain/chain-unreachable.js'
import type { Hex } from '../../core/action.js'

export interface FollowerDeps {
  /** Brings one record to what the chain says; rejects with ChainUnreachable. */
  readonly follow: (actionHash: Hex) => Promise<void>
  /** The actions whose records may differ from what the chain says. */
  readonly unsettled: () => readonly Hex[]
  /** Called at each look, whatever the chain says. */
  readonly onLook: () => void
  /** Pause between two looks at all of them. */
  readonly everyMs: number
  readonly onFatal: (error: unknown) => void
}

/** Follows what is unsettled: at once what it is told of, and everything every now and then. */
export interface Follower {
  /** Something happened to the transaction of an action. */
  touch(actionHash: Hex): void
  start(): void
  stop(): Promise<void>
}

export function createFollower(deps: FollowerDeps): Follower {
  const { follow, unsettled, onLook, everyMs, onFatal } = deps
  const stopping = new AbortController()
  /** Bounded by the transactions that are open. */
  const touched = new Set<Hex>()
  let wake = (): void => undefined
  let running: Promise<void> = Promise.resolve()

  async function look(): Promise<void> {
    onLook()
    const hashes = new Set([...touched, ...unsettled()])
    touched.clear()
    for (const hash of hashes) {
      if (stopping.signal.aborted) return
      await follow(hash)
    }
  }

  async function lookAlways(): Promise<void> {
    while (!stopping.signal.aborted) {
      await look().catch((error: unknown) => {
        // The next look asks again.
        if (!(error instanceof ChainUnreachable)) throw error
      })
      if (touched.size === 0) await pause()
    }
  }

  async function pause(): Promise<void> {
    const woken = new AbortController()
    wake = () => woken.abort()
    const signal = AbortSignal.any([woken.signal, stopping.signal])
    await delay(everyMs, undefined, { signal }).catch(() => undefined)
  }

  return {
    touch(actionHash) {
      touched.add(actionHash)
      wake()
    },
    start() {
      running = lookAlways().catch(onFatal)
    },
    async stop() {
      stopping.abort()
      await running
    },
  }
}
