import { expect } from 'chai'
import { existsSync, readFileSync } from 'node:fs'
import { z } from 'zod'

const root = new URL('../../', import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8')

const lockfile = z.object({
  packages: z.record(
    z.string(),
    z.object({ integrity: z.string().optional(), link: z.boolean().optional() }).loose(),
  ),
})
const manifest = z.object({
  dependencies: z.record(z.string(), z.string()),
  devDependencies: z.record(z.string(), z.string()),
  allowScripts: z.record(z.string(), z.boolean()),
})

describe('docs/SECURITY.md', () => {
  const text = read('docs/SECURITY.md')

  it('answers each of the questions once', () => {
    const numbers = [...text.matchAll(/^\| S(\d+) \|/gm)].map(([, no]) => Number(no))
    expect(numbers.toSorted((a, b) => a - b)).to.deep.equal(
      Array.from({ length: 51 }, (_, i) => i + 1),
    )
  })

  it('names only tests that exist', () => {
    const named = [...text.matchAll(/`(test\/[\w./-]+)`|“([^”]*)”/g)]
    expect(named).to.have.length.above(40)
    let file = ''
    let source = ''
    for (const [, path, name] of named) {
      if (path === undefined) {
        expect(name, `a test of ${file}`).to.not.equal('')
        expect(source, file).to.include(name)
        continue
      }
      expect(existsSync(new URL(path, root)), path).to.equal(true)
      file = path
      source = read(path)
    }
  })

  it('has exact versions of all that is installed, and few install scripts', () => {
    const { dependencies, devDependencies, allowScripts } = manifest.parse(
      JSON.parse(read('package.json')),
    )
    for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies }))
      expect(version, name).to.match(/^(npm:[@\w/.-]+@)?\d+\.\d+\.\d+/)
    const allowed = Object.entries(allowScripts).filter(([, isAllowed]) => isAllowed)
    expect(allowed.map(([name]) => name)).to.deep.equal(['better-sqlite3'])
    const { packages } = lockfile.parse(JSON.parse(read('package-lock.json')))
    const loose = Object.entries(packages).filter(
      ([path, { integrity, link }]) =>
        path.includes('node_modules/') && link !== true && integrity === undefined,
    )
    expect(loose.map(([path]) => path)).to.deep.equal([])
  })
})
