/** Something the operator can put right; the launcher prints the message as it is, without a stack, and exits 1. */
export class LauncherError extends Error {
  override readonly name = 'LauncherError'
}
