import type { Logger } from '../bus-schemas/log.js'
import { runProcess } from '../bus-schemas/process.js'
import type { Running } from '../bus-schemas/process.js'

export interface ActorOptions {
  /** The process's name, as the Procfile and its pings spell it. */
  readonly name: string
  /** Log level. */
  readonly level: string
  readonly start: (context: ActorContext) => Promise<Running>
}

export interface ActorContext {
  readonly log: Logger
  /** Ends the process with exit code 1 and a fatal line: for what goes wrong beyond repair. */
  readonly fail: (error: unknown) => void
}

/** Runs an actor as a process of its own: what every actor's main.ts calls, once. */
export function runActor({ name, level, start }: ActorOptions): void {
  runProcess({ name, level, start: (log, fail) => start({ log, fail }) })
}
