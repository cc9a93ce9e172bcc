/** Waits until something holds, for at most so many seconds. */
export async function eventually(what: string, holds: () => boolean | Promise<boolean>, seconds = 60): Promise<void> {
  const deadline = performance.now() + seconds * 1000;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`not within ${seconds} s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
