import { setTimeout as delay } from 'node:timers/promises'
import { ChainUnreachable } from '../../chain/reads/client.js'
import { BusUnavailable } from '../../runtime/bus/bus.js'
import { NoMarkets } from '../../runtime/bus/market-register.js'
import { exitIfCannotStart } from '../../runtime/process/cannot-start.js'
import { audit, ChainMoved, type AuditOptions } from './audit.js'
import { wordVerdicts } from './verdicts.js'

/** A cluster that has lost a server has elected its leaders by then, also on a busy machine. */
const OPEN_WITHIN_MS = 20_000
/** Exit code of an audit that was not made; a difference is 1. */
const NOT_MADE_CODE = 2
/** What keeps an audit from being made while the program is right. */
const NOT_MADE = [BusUnavailable, ChainUnreachable, ChainMoved, NoMarkets] as const

/** Bounds the wait for what the bus opens or answers. */
export type WithinTime = <Opened>(opened: Promise<Opened>) => Promise<Opened>

/**
 * One audit for a person: prints its verdicts, or in one line why there are none, and sets the exit code. What `open` asks of the chain
 * has bounds of its own: the time of the bus does not begin with it.
 */
export async function auditOnce(
  open: (withinTime: WithinTime) => Promise<AuditOptions>,
  natsUrl: string,
): Promise<void> {
  try {
    const options = await open((opened) => withinTime(opened, natsUrl))
    const verdicts = await audit(options)
    process.stdout.write(`${wordVerdicts(verdicts)}\n`)
    if (verdicts.some(({ result }) => result === 'failed')) process.exitCode = 1
    await options.bus.close()
  } catch (error) {
    exitNotMade(error)
  }
}

/** Opening the bus waits without a bound; a command must end. */
const withinTime = <Opened>(opened: Promise<Opened>, natsUrl: string): Promise<Opened> =>
  Promise.race([
    opened,
    delay(OPEN_WITHIN_MS, undefined, { ref: false }).then(() => {
      throw new BusUnavailable(`the bus at ${natsUrl} does not answer: is the venue running?`)
    }),
  ])

function exitNotMade(error: unknown): never {
  if (!NOT_MADE.some((kind) => error instanceof kind)) exitIfCannotStart(error)
  const { message, cause } = error as Error
  const deeper = cause instanceof Error ? ` (${cause.message})` : ''
  process.stderr.write(`venue: the audit was not made: ${message}${deeper}\n`)
  process.exit(NOT_MADE_CODE)
}
