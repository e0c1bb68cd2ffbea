import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { linkOf } from '../select/link.js'
import { Modal } from './modal.js'
import { KEYS } from './keys.js'
import { usePage } from './page.js'

/** All commands and markets, found by a few letters. */
export function Palette(): JSX.Element {
  const page = usePage()
  const { terminal } = page
  const sought = useSignal('')
  const input = useRef<HTMLInputElement>(null)
  useLayoutEffect(() => input.current?.focus(), [])
  const commands = [
    ...terminal.markets.value.map(({ market }) => ({
      words: `Open ${market}`,
      act: () => void (location.hash = linkOf(market)),
    })),
    ...KEYS.filter(({ keys }) => keys !== 'Ctrl+K').map(({ words, act }) => ({
      words,
      act: () => act(page),
    })),
    { words: 'Messages', act: () => void (terminal.dialog.value = { name: 'messages' }) },
    { words: 'Settings', act: () => void (terminal.dialog.value = { name: 'settings' }) },
    { words: 'Account', act: () => void (terminal.dialog.value = { name: 'account' }) },
  ]
  const found = commands.filter(({ words }) =>
    words.toLowerCase().includes(sought.value.trim().toLowerCase()),
  )
  const run = (act: () => void): void => {
    terminal.dialog.value = undefined
    act()
  }
  const submit = (event: Event): void => {
    event.preventDefault()
    const [first] = found
    if (first !== undefined) run(first.act)
  }
  return (
    <Modal title="Commands">
      <form onSubmit={submit}>
        <label class="field">
          <span>Command or market</span>
          <input
            ref={input}
            value={sought.value}
            onInput={(event) => (sought.value = event.currentTarget.value)}
          />
        </label>
      </form>
      <ul class="commands">
        {found.map(({ words, act }) => (
          <li key={words}>
            <button type="button" onClick={() => run(act)}>
              {words}
            </button>
          </li>
        ))}
      </ul>
    </Modal>
  )
}
