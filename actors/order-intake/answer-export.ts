import { encodeExportAnswer, EXPORT_SUFFIX } from '../../bus-schemas/operations.js'
import { askExportClaims } from '../../bus-schemas/subjects.js'
import type { IntakeRegistry } from '../../data/intake-registry.js'
import type { Bus, Subscription } from '../../runtime/bus/bus.js'
import type { Logger } from '../../runtime/process/log.js'

export interface ExportOptions {
  readonly bus: Pick<Bus, 'answer' | 'reply'>
  readonly registry: Pick<IntakeRegistry, 'exportTo'>
  /** The registry's file; the copy is written beside it, in place of an earlier one. */
  readonly path: string
  readonly log: Logger
}

/** Copies the registry for a backup when it is asked: the file is locked, so that no other process can read it. */
export function answerExport(
  { bus, registry, path, log }: ExportOptions,
  queue: string,
): Promise<Subscription> {
  let running: Promise<void> | undefined
  return bus.answer(askExportClaims, queue, (_, replyTo) => {
    running ??= registry.exportTo(`${path}${EXPORT_SUFFIX}`).finally(() => (running = undefined))
    running.then(
      () => bus.reply(replyTo, encodeExportAnswer({})),
      (error: unknown) => {
        log.error({ err: error }, 'the registry was not copied')
        bus.reply(replyTo, encodeExportAnswer({ trouble: String(error) }))
      },
    )
  })
}
