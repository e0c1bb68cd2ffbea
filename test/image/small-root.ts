import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** What lines of a stage, a container and the venue's scripts run. */
const PROGRAMS = [
  ...['sh', 'env', 'setpriv', 'timeout', 'node', 'awk', 'cat', 'chmod', 'dirname', 'id', 'ls'],
  ...['readlink', 'sed', 'sleep', 'touch', 'stat'],
]

/** Makes a root of some programs of this machine, where an image would have all those of Debian. */
export function makeSmallRoot(root: string): void {
  for (const folder of ['etc', 'usr/bin', 'usr/lib/sysusers.d', 'var/lib'])
    mkdirSync(join(root, folder), { recursive: true })
  symlinkSync('usr/bin', join(root, 'bin'))
  for (const file of ['passwd', 'group']) writeFileSync(join(root, 'etc', file), '')
  const found = PROGRAMS.map((name) => {
    const path = realpathSync(execFileSync('which', [name], { encoding: 'utf8' }).trim())
    copyFileSync(path, join(root, 'usr/bin', name))
    return path
  })
  const needed = execFileSync('ldd', found, { encoding: 'utf8' }).matchAll(/\/\S+\.so\S*/g)
  for (const path of new Set(Array.from(needed, ([library]) => library))) {
    const folder = join(root, dirname(path))
    mkdirSync(folder, { recursive: true })
    copyFileSync(path, join(folder, basename(path)))
  }
}
