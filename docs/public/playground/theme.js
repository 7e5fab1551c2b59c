/** Light or dark as the documentation around this page is; by itself, as the reader's system is. */
const outermost = window.top.document.documentElement;

if (window.top.document.querySelector('.VPContent')) {
  const follow = () => {
    document.documentElement.style.colorScheme = outermost.classList.contains('dark') ? 'dark' : 'light';
  };
  follow();
  new MutationObserver(follow).observe(outermost, { attributeFilter: ['class'] });
}
