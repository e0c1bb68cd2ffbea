import type { JSX } from 'preact'
import { usePage } from './page.js'

/** A transaction by its hash, which leads to the chain's explorer where the venue names one. */
export function Transaction({ hash }: { readonly hash: string }): JSX.Element {
  const { explorer_url: explorer } = usePage().terminal.facts.chain
  const shown = hash.slice(0, 10)
  if (explorer === undefined)
    return (
      <span class="hash" title={hash}>
        {shown}
      </span>
    )
  return (
    <a class="hash" href={new URL(`tx/${hash}`, `${explorer}/`).href} rel="noreferrer" title={hash}>
      {shown}
    </a>
  )
}
