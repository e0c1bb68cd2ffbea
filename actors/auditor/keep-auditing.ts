import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from '../../bus-schemas/log.js'
import type { Standing } from '../answer-ping.js'
import type { Verdict } from './verdicts.js'

export interface KeepAuditingOptions {
  readonly audit: () => Promise<Verdict[]>
  readonly everyMs: number
  readonly log: Logger
}

export interface Auditing {
  /** Ready while the last audit that could be made found nothing. */
  standing(): Standing
  /** Makes no further audit; one that is under way is not waited for. */
  stop(): void
}

/** Audits again and again, with a pause between; says each verdict in the log. */
export function keepAuditing({ audit, everyMs, log }: KeepAuditingOptions): Auditing {
  const stopping = new AbortController()
  let standing: Standing = { ready: false, detail: 'makes its first audit', positions: {} }
  let audits = 0

  const once = async (): Promise<void> => {
    try {
      const verdicts = await audit()
      if (stopping.signal.aborted) return
      audits += 1
      tellVerdicts(log, verdicts)
      standing = standingOf(verdicts, audits)
    } catch (error) {
      // What cannot be read now is asked again; the last verdict stands.
      if (!stopping.signal.aborted) log.error({ err: error }, 'audit not made')
    }
  }
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await once()
      await delay(everyMs, undefined, { signal: stopping.signal }).catch(() => undefined)
    }
  }
  void run()
  return { standing: () => standing, stop: () => stopping.abort() }
}

function tellVerdicts(log: Logger, verdicts: readonly Verdict[]): void {
  for (const { market, check, result, detail, found, findings } of verdicts) {
    const facts = { market, check, result, detail }
    if (result === 'failed') log.error({ ...facts, found, findings }, 'audit finds a difference')
    else log.info(facts, 'audit finds nothing')
  }
}

function standingOf(verdicts: readonly Verdict[], audits: number): Standing {
  const failed = verdicts.filter(({ result }) => result === 'failed')
  const positions = { audits, differences: failed.reduce((sum, { found }) => sum + found, 0) }
  if (failed.length === 0) return { ready: true, detail: 'finds no difference', positions }
  const names = failed.map(({ market, check }) => `${market} ${check}`)
  return { ready: false, detail: `differences: ${names.join(', ')}`, positions }
}
