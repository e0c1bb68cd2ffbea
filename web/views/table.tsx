import type { ComponentChildren, JSX } from 'preact'
import { linkOf } from '../select/link.js'

/** A table whose rows become cards where there is no room: each cell says its head. */
export function Table(props: {
  readonly caption: string
  readonly heads: readonly string[]
  readonly children: ComponentChildren
  readonly isEmpty: boolean
  readonly empty: string
}): JSX.Element {
  if (props.isEmpty) return <p class="quiet pad">{props.empty}</p>
  return (
    <table class="list">
      <caption class="unseen">{props.caption}</caption>
      <thead>
        <tr>
          {props.heads.map((head, at) => (
            <th key={at} scope="col" data-head={head}>
              {head === '' ? <span class="unseen">Actions</span> : head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{props.children}</tbody>
    </table>
  )
}

/** The cell of a market, which opens it. */
export function Market({ name }: { readonly name: string }): JSX.Element {
  return (
    <td data-head="Market">
      <a href={linkOf(name)} tabIndex={-1}>
        {name}
      </a>
    </td>
  )
}
