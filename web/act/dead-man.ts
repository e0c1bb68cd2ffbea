import { effect, signal, untracked, type ReadonlySignal } from '@preact/signals'
import { wordsOf } from '../../client/words-of.js'
import type { Terminal } from '../state/terminal.js'
import type { OrderChanges } from './change.js'

/** The dead man's switch: unless this page renews it, the venue cancels all orders of the owner. */
export interface DeadManSwitch {
  readonly isArmed: ReadonlySignal<boolean>
  /** Whether the trader's key signs each renewal without asking. */
  readonly isPossible: ReadonlySignal<boolean>
  readonly toggle: () => void
}

/** How long the orders outlive the page, in seconds. */
export const OUTLIVES_SEC = 15
const RENEWED_MS = 5_000

/** Another trader, or none, disarms it on this page; the orders of the one before are cancelled as they are after a lost page. */
export function createDeadMan(terminal: Terminal, { cancelAllAfter }: OrderChanges): DeadManSwitch {
  const isArmed = signal(false)
  const isPossible = signal(false)
  const tell = (error: unknown): void =>
    terminal.toasts.tell({
      id: 'dead man',
      kind: 'bad',
      text: `Dead man’s switch: ${wordsOf(error)}`,
    })
  effect(() => {
    isPossible.value = terminal.own.value?.trader.isSilent === true
    isArmed.value = false
  })
  effect(() => {
    if (!isArmed.value) return undefined
    // What a signature reads, the time among it, is no reason to sign anew.
    const renew = (): void => untracked(() => void cancelAllAfter(OUTLIVES_SEC).catch(tell))
    renew()
    const timer = setInterval(renew, RENEWED_MS)
    return () => clearInterval(timer)
  })
  return {
    isArmed,
    isPossible,
    toggle: () => {
      isArmed.value = !isArmed.value
      if (!isArmed.value) void cancelAllAfter(0).catch(tell)
    },
  }
}
