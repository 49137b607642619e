/**
 * Replaces react-remove-scroll for the frame of the pages, which takes only these names of classes from it. Dialogs have the library itself, which
 * gives these classes their meaning.
 */
export const RemoveScroll = {
  classNames: { fullWidth: 'width-before-scroll-bar', zeroRight: 'right-scroll-bar-position' },
}
