"""Charts as plotly takes them: plain dictionaries, in colours that hold on light and dark; the theme comes later."""
