import type { JSX } from 'preact'
import { usePage } from './page.js'
import { Transaction } from './transaction.js'

/** What became of what the user did; one for each deed. Those who listen hear one polite line, and failures at once. */
export function Toasts(): JSX.Element {
  const { toasts } = usePage().terminal
  return (
    <div class="toasts" role="region" aria-label="Messages">
      {toasts.shown.value.map(({ id, text, kind, hash }) => (
        <div key={id} class={`toast ${kind}`}>
          <span>
            {text} {hash !== undefined && <Transaction hash={hash} />}
          </span>
          <button type="button" aria-label="Dismiss" onClick={() => toasts.dismiss(id)}>
            ×
          </button>
        </div>
      ))}
      <p class="unseen" aria-live="polite">
        {toasts.spoken.value}
      </p>
      <p class="unseen" aria-live="assertive">
        {toasts.alarm.value}
      </p>
    </div>
  )
}
