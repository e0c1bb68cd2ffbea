import { createRequire, syncBuiltinESMExports } from 'node:module'
import { performance } from 'node:perf_hooks'
import Database from 'better-sqlite3'
import type { Random } from './random.js'
import { EPOCH_MS, type Actor, type World } from './world.js'

/** Handles a simulated HTTP request. Resolves with the text of the answer, or rejects as fetch would. */
export type HttpDouble = (request: HttpRequest) => Promise<HttpAnswer>

export interface HttpRequest {
  readonly from: Actor
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface HttpAnswer {
  readonly status: number
  readonly text: string
}

/** What the production code takes for its machine. */
export interface Machine {
  readonly world: World
  readonly random: Random
  readonly http: HttpDouble
  /** Told of each database that an actor opens, so that a crash can take it away. */
  readonly onDatabase: (actor: Actor, database: Database.Database) => void
  /** Told after each commit of an actor; what it throws is thrown from there. */
  readonly onCommit: (actor: Actor) => void
}

type Callback = (...args: unknown[]) => unknown
interface Timer {
  readonly cancel: () => void
  ref(): Timer
  unref(): Timer
  hasRef(): boolean
  refresh(): Timer
  [Symbol.toPrimitive](): number
}

const require = createRequire(import.meta.url)
const timersPromises = require('node:timers/promises') as Record<string, unknown>
let machine: Machine | undefined
let installed = false

/**
 * Makes clock, timers, chance and network of this process those of a simulated machine; for good, so call it only in a
 * process of its own. Work without an explicit process belongs to the process that runs at that moment.
 */
export function runOn(given: Machine): void {
  machine = given
  if (installed) return
  installed = true
  replaceTimers()
  replaceClock()
  replaceNetwork()
  watchDatabases()
  watchCommits()
}

const on = (): Machine => {
  if (machine === undefined) throw new Error('no machine')
  return machine
}

/** Nothing runs outside of events, so without an actor something real has leaked in. */
function acting(): Actor {
  const actor = on().world.acting()
  if (actor === undefined) throw new Error('a timer or request outside of any event')
  return actor
}

function startTimer(callback: Callback, ms: unknown, args: unknown[], repeat: boolean): Timer {
  const { world } = on()
  const actor = acting()
  const delayMs = Math.max(1, typeof ms === 'number' && ms === ms ? Math.trunc(ms) : 1)
  let stop = (): void => undefined
  const fire = (): void => {
    if (repeat) stop = world.after(actor, delayMs, fire)
    callback(...args)
  }
  stop = world.after(actor, delayMs, fire)
  const timer: Timer = {
    cancel: () => stop(),
    ref: () => timer,
    unref: () => timer,
    hasRef: () => true,
    refresh: () => {
      stop()
      stop = world.after(actor, delayMs, fire)
      return timer
    },
    [Symbol.toPrimitive]: () => 0,
  }
  return timer
}

function replaceTimers(): void {
  const clear = (timer: Timer | undefined): void => timer?.cancel?.()
  Object.assign(globalThis, {
    setTimeout: (callback: Callback, ms?: unknown, ...args: unknown[]) =>
      startTimer(callback, ms, args, false),
    setInterval: (callback: Callback, ms?: unknown, ...args: unknown[]) =>
      startTimer(callback, ms, args, true),
    setImmediate: (callback: Callback, ...args: unknown[]) => {
      const cancel = on().world.after(acting(), 0, () => callback(...args))
      return { cancel }
    },
    clearTimeout: clear,
    clearInterval: clear,
    clearImmediate: clear,
  })
  timersPromises.setTimeout = delay
  timersPromises.setImmediate = (value: unknown) => delay(0, value)
  syncBuiltinESMExports()
}

function delay(ms: number, value?: unknown, options: { signal?: AbortSignal } = {}) {
  const { signal } = options
  return new Promise((resolve, reject) => {
    const aborted = (): void => {
      timer.cancel()
      reject(abortError(signal))
    }
    const timer = startTimer(
      () => {
        signal?.removeEventListener('abort', aborted)
        resolve(value)
      },
      ms,
      [],
      false,
    )
    if (signal?.aborted === true) aborted()
    else signal?.addEventListener('abort', aborted, { once: true })
  })
}

function abortError(signal: AbortSignal | undefined): Error {
  return Object.assign(new Error('The operation was aborted', { cause: signal?.reason }), {
    name: 'AbortError',
    code: 'ABORT_ERR',
  })
}

function replaceClock(): void {
  // A process that does not act has the world's own time: that is the simulation itself asking.
  Date.now = () => {
    const { world } = on()
    return world.nowMs() + (world.acting()?.skewMs ?? 0)
  }
  Object.defineProperty(performance, 'now', { value: () => on().world.elapsedMs() + 1 })
  Object.defineProperty(performance, 'timeOrigin', { value: EPOCH_MS })
  Math.random = () => on().random.next()
}

function replaceNetwork(): void {
  Object.assign(globalThis, { Request: class {}, fetch })
}

interface FetchInit {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | null
}

function fetch(target: string | URL, init: FetchInit = {}): Promise<unknown> {
  const { signal, headers = {}, body = '' } = init
  const request = { from: acting(), url: new URL(target), headers, body: body as string }
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(abortError(signal))
    // What dies in the middle of a step sends nothing more while the step unwinds.
    if (!request.from.alive) return
    signal?.addEventListener('abort', () => reject(abortError(signal)), { once: true })
    on()
      .http(request)
      .then(({ status, text }) => resolve(response(status, text)), reject)
  })
}

/** As much of a Response as is looked at. */
function response(status: number, text: string) {
  return {
    ok: status >= 200 && status < 300,
    status,
    statusText: String(status),
    headers: new Map([['Content-Type', 'application/json']]),
    text: () => Promise.resolve(text),
    json: () => Promise.resolve(JSON.parse(text) as unknown),
  }
}

function watchDatabases(): void {
  const known = new WeakSet<Database.Database>()
  const prototype = Database.prototype as Record<'exec' | 'pragma', Callback>
  for (const method of ['exec', 'pragma'] as const) {
    const original = prototype[method]
    prototype[method] = function (this: Database.Database, ...args) {
      const actor = machine?.world.acting()
      if (actor !== undefined && !known.has(this)) {
        known.add(this)
        machine?.onDatabase(actor, this)
      }
      return original.apply(this, args)
    }
  }
}

type Transaction = Callback & Record<'default' | 'deferred' | 'immediate' | 'exclusive', Callback>
const MODES = ['default', 'deferred', 'immediate', 'exclusive'] as const

function watchCommits(): void {
  const prototype = Database.prototype as {
    transaction: (this: Database.Database, step: Callback) => Transaction
    prepare: (this: Database.Database, sql: string) => { run: Callback }
  }
  const { transaction, prepare } = prototype
  prototype.transaction = function (this: Database.Database, step) {
    const made = transaction.call(this, step)
    const telling = (run: Callback) => tellingOf(this, run)
    const told = telling(made) as Transaction
    for (const mode of MODES) Object.defineProperty(told, mode, { value: telling(made[mode]) })
    return told
  }
  prototype.prepare = function (this: Database.Database, sql) {
    const statement = prepare.call(this, sql)
    if (/^\s*(INSERT|UPDATE|DELETE|COMMIT)/.test(sql))
      statement.run = tellingOf(this, statement.run)
    return statement
  }
}

/** The same, and afterwards the machine is told if that was a commit. */
function tellingOf(database: Database.Database, run: Callback): Callback {
  return function (this: unknown, ...args: unknown[]) {
    const result: unknown = run.apply(this, args)
    const actor = machine?.world.acting()
    if (actor?.alive === true && !database.inTransaction) machine?.onCommit(actor)
    return result
  }
}
