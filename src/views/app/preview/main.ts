document.title = 'Preview';
