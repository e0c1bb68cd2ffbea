import { expect } from 'chai'
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { tempDir } from './support/temp-dir.js'
import { ENDS_AT_LAST } from './support/ends-at-last.js'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** Makes a project of these compiled tests, by name, with the launcher and the reporter of this one. */
function fillProject(project: string, tests: Readonly<Record<string, string>>): void {
  for (const room of ['core', 'sim', 'e2e']) {
    mkdirSync(join(project, 'dist/test', room), { recursive: true })
  }
  mkdirSync(join(project, 'devnet'))
  const setup = [
    'ensure_browser() { echo browser >>browser; }',
    'ensure_prometheus() { :; }',
    'ensure_python() { :; }',
    'ensure_strace() { :; }',
  ]
  writeFileSync(join(project, 'devnet/setup.sh'), setup.join('\n'))
  writeFileSync(join(project, 'package.json'), '{ "type": "module" }')
  copyFileSync(join(root, 'venue'), join(project, 'venue'))
  symlinkSync(join(root, 'node_modules'), join(project, 'node_modules'))
  symlinkSync(join(root, 'dist/test/support'), join(project, 'dist/test/support'))
  for (const [name, source] of Object.entries(tests)) {
    writeFileSync(join(project, `dist/test/${name}.test.js`), source)
  }
}

function run(
  tests: Readonly<Record<string, string>>,
  ...args: readonly string[]
): { code: number | null; lines: string[]; hasBrowser: boolean } {
  const dir = tempDir()
  try {
    fillProject(dir.path, tests)
    const { status, stdout } = spawnSync('sh', ['venue', 'test', ...args], {
      cwd: dir.path,
      encoding: 'utf8',
      ...ENDS_AT_LAST,
    })
    const hasBrowser = existsSync(join(dir.path, 'browser'))
    return { code: status, lines: stdout.trimEnd().split('\n'), hasBrowser }
  } finally {
    dir.remove()
  }
}

const PASSES = `it('passes', () => {})`
/** A test file for each lane but the last: a lane without a test is a failure. */
const APART = { 'e2e/first': PASSES, 'e2e/second': PASSES }
const FAILS = `it('breaks', () => { throw new Error('broken rule') })`
const LATE = `it('waits', function (done) { this.timeout(10) })`
const LATE_ONCE = `import { existsSync, writeFileSync } from 'node:fs'
it('waits', function (done) {
  this.timeout(10)
  if (existsSync('seen')) done()
  writeFileSync('seen', '')
})
${PASSES}`
const FAILS_ONCE = `import { existsSync, writeFileSync } from 'node:fs'
it('breaks once', () => {
  if (existsSync('seen')) return
  writeFileSync('seen', '')
  throw new Error('broken rule')
})`

describe('./venue test', function () {
  it('adds up all lanes, and runs what no lane is named for', () => {
    const { code, lines, hasBrowser } = run({ one: PASSES, 'e2e/0': PASSES, ...APART })
    expect(lines.at(-1)).to.equal('4 passed, 0 failed')
    // The page is tested in a browser, which is installed first.
    expect(hasBrowser).to.equal(true)
    expect(code).to.equal(0)
  })

  it('runs the pure rooms and a trade alone when it is to be quick', () => {
    const tests = { 'core/one': PASSES, 'sim/two': PASSES, tidy: PASSES, 'e2e/trading': PASSES }
    const { code, lines, hasBrowser } = run(
      { ...tests, other: FAILS, 'e2e/other': FAILS },
      '--quick',
    )
    expect(lines.at(-1)).to.equal('4 passed, 0 failed')
    expect(hasBrowser).to.equal(false)
    expect(code).to.equal(0)
  })

  it('fails when it is to be quick and no trade is tried', () => {
    const { code, lines } = run({ 'core/one': PASSES }, '--quick')
    expect(lines.at(-1)).to.equal('1 passed, 1 failed')
    expect(code).to.equal(1)
  })

  it('shows a failure once more before the last line, and runs nothing again for it', () => {
    const { code, lines } = run({
      'core/one': `${FAILS}\n${PASSES}`,
      'sim/two': `${FAILS}\n${LATE}`,
      ...APART,
    })
    expect(lines.at(-1)).to.equal('3 passed, 3 failed')
    expect(lines.filter((line) => line === 'failed: breaks')).to.have.length(2)
    expect(lines.join('\n')).not.to.contain('runs once more')
    expect(code).to.equal(1)
  })

  it('runs a file in which only time limits were exceeded once more, which then counts', () => {
    const { code, lines } = run({ two: LATE_ONCE, ...APART })
    expect(lines).to.contain('unstable: dist/test/two.test.js runs once more alone')
    expect(lines.at(-1)).to.equal('4 passed, 0 failed')
    expect(code).to.equal(0)
  })

  it('runs a failing file of real processes once more, and still names what failed first', () => {
    const { code, lines } = run({ one: PASSES, ...APART, 'e2e/two': FAILS_ONCE })
    expect(lines.at(-1)).to.equal('4 passed, 0 failed')
    expect(lines).to.contain('failed: breaks once')
    expect(lines).to.contain(
      'unstable: dist/test/e2e/two.test.js failed in its first run, see above',
    )
    expect(code).to.equal(0)
  })

  it('runs none again when more than four files fail', () => {
    const five = [1, 2, 3, 4, 5].map((n) => [`e2e/broken-${n}`, FAILS] as const)
    const { code, lines } = run({ one: PASSES, ...APART, ...Object.fromEntries(five) })
    expect(lines.at(-1)).to.equal('3 passed, 5 failed')
    expect(lines.join('\n')).not.to.contain('runs once more')
    expect(code).to.equal(1)
  })

  it('fails when they are exceeded again', () => {
    const { code, lines } = run({ one: LATE, ...APART })
    expect(lines.at(-1)).to.equal('2 passed, 1 failed')
    expect(code).to.equal(1)
  })
})
