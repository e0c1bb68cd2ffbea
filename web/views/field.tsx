import type { Signal } from '@preact/signals'
import type { JSX } from 'preact'

/** A text field whose unit stands in it. */
export function Field(props: {
  readonly label: string
  readonly unit: JSX.Element | string
  readonly value: Signal<string>
  readonly name: string
}): JSX.Element {
  const { label, unit, value, name } = props
  return (
    <label class="field">
      <span>{label}</span>
      <input
        name={name}
        inputMode="decimal"
        autoComplete="off"
        value={value.value}
        onInput={(event) => (value.value = event.currentTarget.value)}
      />
      <span class="unit">{unit}</span>
    </label>
  )
}

/** A choice that is on or off. */
export function Check(props: {
  readonly words: string
  readonly isOn: boolean
  readonly set: (isOn: boolean) => void
}): JSX.Element {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={props.isOn}
        onChange={(event) => props.set(event.currentTarget.checked)}
      />
      {props.words}
    </label>
  )
}
