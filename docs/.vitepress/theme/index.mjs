import DefaultTheme from 'vitepress/theme';
import { h } from 'vue';
import demo from '../../demo.png';
import demoDark from '../../demo-dark.png';
import './style.css';

const alt = 'The demo app: capabilities on the left, a timeline of calls with their confirmations on the right';

export default {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, {
    'home-hero-image': () => [
      h('img', { src: demo, alt, class: 'shot only-light' }),
      h('img', { src: demoDark, alt, class: 'shot only-dark' }),
    ],
  }),
};
