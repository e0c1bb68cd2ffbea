import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Hex } from '../../core/action.js'

/** What the server does with a request for a signature. */
export const MOODS = ['signs', 'other key', 'refuses', 'silent', 'babbles', 'high s'] as const
export type SignerMood = (typeof MOODS)[number]

export interface StandInData {
  readonly keys: readonly Hex[]
  /** The mood by its place in MOODS, and how many signatures were asked for. */
  readonly shared: Int32Array
}

export interface StandInSigner {
  readonly url: string
  readonly set: (mood: SignerMood) => void
  /** How many signatures it was asked for. */
  readonly asked: () => number
  stop(): Promise<void>
}

/** A server with the eth1 interface of web3signer, in a thread of its own: its callers stand still while they wait. */
export async function serveSigner(...keys: readonly Hex[]): Promise<StandInSigner> {
  const shared = new Int32Array(new SharedArrayBuffer(8))
  const workerData: StandInData = { keys, shared }
  const worker = new Worker(new URL('./stand-in-signer-thread.js', import.meta.url), { workerData })
  const [port] = (await once(worker, 'message')) as [number]
  return {
    url: `http://127.0.0.1:${port}`,
    set: (mood) => void Atomics.store(shared, 0, MOODS.indexOf(mood)),
    asked: () => Atomics.load(shared, 1),
    stop: async () => void (await worker.terminate()),
  }
}
