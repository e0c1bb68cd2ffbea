import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { usePage } from './page.js'

/** A modal dialog: Escape and the cross close it, and the focus goes back to where it was. */
export function Modal(props: {
  readonly title: string
  readonly children: ComponentChildren
  readonly onClose?: () => void
}): JSX.Element {
  const { terminal } = usePage()
  const place = useRef<HTMLDialogElement>(null)
  const close = props.onClose ?? (() => (terminal.dialog.value = undefined))
  useEffect(() => {
    const before = document.activeElement
    place.current?.showModal()
    return () => before instanceof HTMLElement && before.focus()
  }, [])
  return (
    <dialog
      ref={place}
      aria-label={props.title}
      // The browser reports a close by Escape only after the dialog is gone, and a key pressed in between would open nothing.
      onCancel={(event) => {
        event.preventDefault()
        close()
      }}
      onClose={close}
      onClick={(event) => event.target === place.current && close()}
    >
      <div class="dialog">
        <div class="panel-head">
          <h2>{props.title}</h2>
          <button type="button" aria-label="Close the dialog" onClick={close}>
            ×
          </button>
        </div>
        {props.children}
      </div>
    </dialog>
  )
}
