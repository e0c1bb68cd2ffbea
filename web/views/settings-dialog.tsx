import type { JSX } from 'preact'
import type { Prefs } from '../state/prefs.js'
import { DeadManSwitch } from './dead-man.js'
import { Check } from './field.js'
import { Modal } from './modal.js'
import { usePage } from './page.js'
import { GuardChoice } from './ticket.js'

/** Theme, colours, zone, keys and confirmations; kept on this device. */
export function SettingsDialog(): JSX.Element {
  const { terminal } = usePage()
  const { prefs, set } = terminal.prefs
  const { theme, colours, isUtc, hasKeys, confirms } = prefs.value
  return (
    <Modal title="Settings">
      <label class="field">
        <span>Theme</span>
        <select
          value={theme}
          onChange={(event) => set({ theme: event.currentTarget.value as Prefs['theme'] })}
        >
          <option value="system">as the system</option>
          <option value="dark">dark</option>
          <option value="light">light</option>
        </select>
      </label>
      <label class="field">
        <span>Colours</span>
        <select
          value={colours}
          onChange={(event) => set({ colours: event.currentTarget.value as Prefs['colours'] })}
        >
          <option value="green-red">green and red</option>
          <option value="blue-orange">blue and orange</option>
        </select>
      </label>
      <Check words="Times in UTC" isOn={isUtc} set={(on) => set({ isUtc: on })} />
      <Check
        words="Keys for orders (press ? for the list)"
        isOn={hasKeys}
        set={(on) => set({ hasKeys: on })}
      />
      <Check
        words="Ask before moving an order by its line, and before cancelling more than 5"
        isOn={confirms}
        set={(on) => set({ confirms: on })}
      />
      <GuardChoice />
      <DeadManSwitch />
      <button type="button" onClick={() => (terminal.dialog.value = { name: 'messages' })}>
        Messages of this visit
      </button>
      <p class="links">
        <a href="docs">Interface</a> <a href="v1/venue">What to sign</a>{' '}
        <a href="v1/health">Health</a>{' '}
        <a href="https://www.tradingview.com/" rel="noreferrer">
          Charts by TradingView Lightweight Charts™
        </a>
      </p>
    </Modal>
  )
}
