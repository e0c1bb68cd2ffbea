import fc from 'fast-check'

/** How many times as many cases as usual every property tries; set by hand (test/README.md). */
const TIMES = Number(process.env.PROPERTY_RUNS ?? 1)

/** How many cases a property tries that usually tries so many; the same for its time limit. Every `fc.assert` asks. */
export const runs = (usual: number): number => Math.ceil(usual * TIMES)

/** fast-check's own number; loaded before all tests (`.mocharc.json`). */
fc.configureGlobal({ ...fc.readConfigureGlobal(), numRuns: runs(100) })
