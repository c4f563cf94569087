export interface TestCounts {
  passed: number;
  failed: number;
  skipped: number;
}
export declare function countTests(report: unknown, exitCode: number): TestCounts;
export declare function summaryLine(counts: Pick<TestCounts, 'passed' | 'failed'>): string;
