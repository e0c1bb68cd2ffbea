import { armCrashPoints } from '../../../core/crash-point.js'
import { readCrashAt } from '../../../runtime/process/config.js'
import { killAt } from '../../../runtime/process/process.js'

/**
 * A submitter that its parent arms while it runs. On a message with a crash point it answers `armed`, and ends itself
 * when it reaches that point.
 */
process.on('message', (crashAt: string) => {
  const at = readCrashAt({ NODE_ENV: 'test', CRASH_AT: crashAt })
  armCrashPoints(at && killAt(at, () => process.kill(process.pid, 'SIGKILL')))
  process.send?.('armed')
})
await import('../../../actors/transfer-submitter/main.js')
