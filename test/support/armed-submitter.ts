import { killAt } from '../../bus-schemas/crash-at.js'
import { readCrashAt } from '../../bus-schemas/crash-config.js'
import { armCrashPoints } from '../../core/crash-point.js'

/**
 * A submitter that its parent arms while it runs: `node armed-submitter.js <kind>`. Told a crash point, it answers that
 * it is armed, and ends itself there.
 */
process.on('message', (crashAt: string) => {
  const at = readCrashAt({ NODE_ENV: 'test', CRASH_AT: crashAt })
  armCrashPoints(at && killAt(at, () => process.kill(process.pid, 'SIGKILL')))
  process.send?.('armed')
})
const [kind = 'deposit'] = process.argv.slice(2)
await import(`../../actors/${kind}-submitter/main.js`)
