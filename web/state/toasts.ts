import { signal, type ReadonlySignal, type Signal } from '@preact/signals'

/** A message about something that the user did. */
export interface Toast {
  /** One for each order or deed: what comes later about it takes the place of what came before. */
  readonly id: string
  readonly text: string
  readonly kind: 'busy' | 'good' | 'bad'
  readonly hash?: string
}

/** A message as it is looked up later. */
export interface LoggedToast extends Pick<Toast, 'text' | 'kind' | 'hash'> {
  /** ISO 8601, by this device's clock. */
  readonly at: string
}

export interface Toasts {
  /** Newest last. */
  readonly shown: ReadonlySignal<readonly Toast[]>
  /** What was said since the page is open, newest first, without what was under way. */
  readonly log: ReadonlySignal<readonly LoggedToast[]>
  /** For those who listen: what went well, and what did not. */
  readonly spoken: ReadonlySignal<string>
  readonly alarm: ReadonlySignal<string>
  /** Shows or replaces a toast. A bad one stays until it is dismissed. */
  tell(toast: Toast): void
  dismiss(id: string): void
}

const LIVES_MS = 5_000
/** Those who listen hear no more than one message in so long: the newest. */
const SPOKEN_EVERY_MS = 1_000
const SHOWN = 5
const LOGGED = 100

export function createToasts(): Toasts {
  const shown = signal<readonly Toast[]>([])
  const log = signal<readonly LoggedToast[]>([])
  const spoken = signal('')
  const alarm = signal('')
  const speak = createSpeaker(spoken)
  const timers = new Map<string, ReturnType<typeof setTimeout>>()
  const dismiss = (id: string): void => {
    clearTimeout(timers.get(id))
    timers.delete(id)
    shown.value = shown.value.filter((one) => one.id !== id)
  }
  return {
    shown,
    log,
    spoken,
    alarm,
    dismiss,
    tell(toast) {
      clearTimeout(timers.get(toast.id))
      const others = shown.value.filter(({ id }) => id !== toast.id)
      for (const { id } of others.slice(0, Math.max(0, others.length + 1 - SHOWN))) dismiss(id)
      shown.value = [...others.slice(-(SHOWN - 1)), toast]
      if (toast.kind !== 'busy')
        log.value = [{ ...toast, at: new Date().toISOString() }, ...log.value].slice(0, LOGGED)
      if (toast.kind === 'bad') alarm.value = toast.text
      else speak(toast.text)
      if (toast.kind === 'good')
        timers.set(
          toast.id,
          setTimeout(() => dismiss(toast.id), LIVES_MS),
        )
    },
  }
}

function createSpeaker(spoken: Signal<string>): (text: string) => void {
  let isQuiet = true
  let next: string | undefined
  const speak = (text: string): void => {
    if (!isQuiet) return void (next = text)
    isQuiet = false
    spoken.value = text
    setTimeout(() => {
      isQuiet = true
      const waiting = next
      next = undefined
      if (waiting !== undefined) speak(waiting)
    }, SPOKEN_EVERY_MS)
  }
  return speak
}
