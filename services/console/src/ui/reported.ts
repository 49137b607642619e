/**
 * Says what became of a write, even if what was saved has replaced the component that began it: the callbacks given to `mutate` are lost
 * then. Navigation stays with `mutate`, because nobody is to be moved from a page that they went to meanwhile.
 */
export function reported<T>(
  written: Promise<T>,
  onSuccess: (result: T) => void,
  // A confirmation shows the error of its write itself.
  onError: (error: Error) => void = () => {},
): void {
  void written.then(onSuccess, onError)
}
