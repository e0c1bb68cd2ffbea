import type { JSX } from 'preact'

/** The page while the venue does not answer its first questions. */
export function Unread({ again }: { readonly again: () => void }): JSX.Element {
  return (
    <main class="pad">
      <p role="alert">The venue does not answer: its markets cannot be read.</p>
      <button type="button" class="main" onClick={again}>
        Try again
      </button>
    </main>
  )
}
