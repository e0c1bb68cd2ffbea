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
