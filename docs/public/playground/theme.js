/** Light or dark like the documentation around this page. Without that page, like the system of the reader. */
const outermost = window.top.document.documentElement;

if (window.top.document.querySelector('.VPContent')) {
  const follow = () => {
    document.documentElement.style.colorScheme = outermost.classList.contains('dark') ? 'dark' : 'light';
  };
  follow();
  new MutationObserver(follow).observe(outermost, { attributeFilter: ['class'] });
}
