import type Database from 'better-sqlite3'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Bus } from '../../runtime/bus/bus.js'
import type { MemoryBus } from '../../runtime/bus/memory-bus.js'
import type { Logger } from '../../runtime/process/log.js'
import { connectLine, type BusLine } from './bus-line.js'
import type { Network } from './network.js'
import type { Actor } from './world.js'

/** What a process gets to live with. */
export interface Surroundings {
  /** Tells this life from any other. */
  readonly name: string
  readonly bus: Bus
  readonly log: Logger
  /** An address of the node that no other life has: the client keeps a queue for each address of its process. */
  readonly nodeUrl: string
  /** Its own directory, which outlives it. */
  readonly dataDir: string
  /** Ends it: what its main would hand to the process shell. */
  readonly fail: (error: unknown) => void
  /** Calls the operator, who tries the cure after a while, and again until it resolves with true or the life has ended. */
  readonly alarm: (cure: () => Promise<boolean>) => void
}

/** A process as it runs: how to stop it properly, and what others may ask of it directly. */
export interface Life<Face> {
  readonly face: Face
  stop(): Promise<void>
}

export interface ProcessSpec<Face> {
  readonly name: string
  readonly start: (surroundings: Surroundings) => Promise<Life<Face>>
  /** What may end it besides a crash: a name of an error that is not a finding. */
  readonly mayFailWith: readonly string[]
}

/** A process of the venue under a supervisor that starts it again. */
export interface SimulatedProcess<Face = unknown> {
  readonly name: string
  /** Undefined while it is down or has not finished starting. */
  face(): Face | undefined
  /** Its actor, while one lives. */
  actor(): Actor | undefined
  /** Whether the operator is called, and has not cured it yet. */
  isAlarming(): boolean
  /** SIGKILL: nothing is cleaned up, files stay as they were at their last commit. */
  crash(why: string): void
  /** SIGTERM; after five seconds SIGKILL. */
  terminate(): void
  setConnected(connected: boolean): void
  /** Milliseconds of its wall clock ahead of the world's. */
  setSkew(ms: number): void
  /** A database that the acting life has opened. */
  ownDatabase(database: Database.Database): void
  /** Told when a life ends, so that those who wait for an answer learn that there will be none. */
  onEnd(listener: () => void): void
}

export interface SupervisorOptions {
  readonly network: Network
  readonly server: MemoryBus
  readonly directory: string
  readonly nodeUrl: string
  readonly log: (name: string) => Logger
  /** Something ended a process that nothing may end. */
  readonly onFinding: (what: string, error: unknown) => void
}

interface Incarnation {
  readonly actor: Actor
  readonly line: BusLine
  readonly databases: Database.Database[]
  life?: Life<unknown>
  /** Of how many the operator is called. */
  alarms: number
}

const STOP_DEADLINE_MS = 5_000
const OPERATOR_COMES_MS = 20_000
/** Until the rest of the venue has seen that a process is cured. */
const CURE_SEEN_MS = 5_000
const RESTART_FIRST_MS = 200
const RESTART_SPREAD_MS = 2_000

/** Starts the process now, and again after each end. */
export function supervise<Face>(
  options: SupervisorOptions,
  spec: ProcessSpec<Face>,
): SimulatedProcess<Face> {
  const { network, server, onFinding } = options
  const { world, random } = network
  const dataDir = join(options.directory, spec.name)
  mkdirSync(dataDir, { recursive: true })
  const listeners: (() => void)[] = []
  let current: Incarnation | undefined
  let connected = true
  let skewMs = 0
  let lives = 0

  function end(one: Incarnation, why: string): void {
    if (!one.actor.alive) return
    one.actor.alive = false
    world.note(`${one.actor.name} ends: ${why}`)
    one.line.cut(random.chance(0.5))
    for (const database of one.databases) database.close()
    if (current === one) current = undefined
    for (const listener of listeners) listener()
    world.after(network.wire, RESTART_FIRST_MS + random.int(RESTART_SPREAD_MS), start)
  }

  function failed(one: Incarnation, error: unknown): void {
    if (!one.actor.alive) return
    const name = error instanceof Error ? error.name : String(error)
    end(one, `failed with ${name}: ${error instanceof Error ? error.message : ''}`)
    if (!spec.mayFailWith.includes(name)) onFinding(`${spec.name} failed`, error)
  }

  function callOperator(one: Incarnation, cure: () => Promise<boolean>): void {
    world.after(network.wire, random.int(OPERATOR_COMES_MS), () => {
      if (!one.actor.alive) return
      world.after(one.actor, 0, () => {
        cure().then(
          (isCured) => {
            if (!isCured) callOperator(one, cure)
            else world.after(network.wire, CURE_SEEN_MS, () => (one.alarms -= 1))
          },
          (error: unknown) => failed(one, error),
        )
      })
    })
  }

  function start(): void {
    lives += 1
    const actor: Actor = {
      name: `${spec.name}#${lives}`,
      alive: true,
      skewMs,
      onFailure: (error) => failed(one, error),
    }
    const line = connectLine(network, server, actor)
    line.setConnected(connected)
    const one: Incarnation = { actor, line, databases: [], alarms: 0 }
    current = one
    world.note(`${actor.name} starts`)
    world.after(actor, 0, () => {
      spec
        .start({
          bus: line.bus,
          log: options.log(actor.name),
          dataDir,
          name: actor.name,
          nodeUrl: `${options.nodeUrl}${actor.name}`,
          fail: (error) => failed(one, error),
          alarm: (cure) => {
            one.alarms += 1
            callOperator(one, cure)
          },
        })
        .then(
          (life) => {
            one.life = life
          },
          (error: unknown) => failed(one, error),
        )
    })
  }

  start()
  return {
    name: spec.name,
    face: () => current?.life?.face as Face | undefined,
    actor: () => current?.actor,
    isAlarming: () => (current?.alarms ?? 0) > 0,
    crash: (why) => {
      if (current !== undefined) end(current, why)
    },
    terminate() {
      const one = current
      if (one?.life === undefined) return
      world.note(`${one.actor.name} is asked to stop`)
      const { life } = one
      world.after(one.actor, 0, () => {
        life.stop().then(
          () => end(one, 'stopped'),
          (error: unknown) => failed(one, error),
        )
      })
      world.after(network.wire, STOP_DEADLINE_MS, () => end(one, 'did not stop in time'))
    },
    setConnected(value) {
      connected = value
      current?.line.setConnected(value)
    },
    setSkew(ms) {
      skewMs = ms
      if (current !== undefined) current.actor.skewMs = ms
    },
    ownDatabase: (database) => void current?.databases.push(database),
    onEnd: (listener) => void listeners.push(listener),
  }
}
