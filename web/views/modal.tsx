import type { ComponentChildren, JSX } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
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
  // Before anything is painted: the next key may come sooner.
  useLayoutEffect(() => {
    const dialog = place.current
    dialog?.showModal()
    return () => dialog?.close()
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
      // The browser reports it late, maybe when the dialog is gone and another one is open.
      onClose={() => place.current !== null && close()}
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
