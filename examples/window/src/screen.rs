//! The window itself: winit's events go in, egui's triangles come out as pixels. No graphics card is needed.

use std::cell::Cell;
use std::error::Error;
use std::num::NonZeroU32;
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

use egui::ViewportId;
use egui_software_backend::{BufferMutRef, ColorFieldOrder, EguiSoftwareRender};
use winit::dpi::LogicalSize;
use winit::event::WindowEvent;
use winit::event_loop::{ActiveEventLoop, OwnedDisplayHandle};
use winit::window::Window;

/// Longer pauses than this are none that egui means.
const FOR_EVER: Duration = Duration::from_secs(3_600);

pub(crate) struct Screen {
    window: Rc<Window>,
    surface: softbuffer::Surface<OwnedDisplayHandle, Rc<Window>>,
    egui: egui::Context,
    input: egui_winit::State,
    painter: EguiSoftwareRender,
    /// When egui wants to draw again by itself: while something moves or fades.
    pub(crate) draw_at: Option<Instant>,
    /// Winit will ask for a drawing.
    is_stale: Cell<bool>,
    /// So many times it was drawn.
    pub(crate) drawn: u64,
}

impl Screen {
    pub(crate) fn open(event_loop: &ActiveEventLoop) -> Result<Self, Box<dyn Error>> {
        let attributes = Window::default_attributes()
            .with_title("Primes, by a worker of Tamtam")
            .with_inner_size(LogicalSize::new(640, 680));
        let window = Rc::new(event_loop.create_window(attributes)?);
        let display = softbuffer::Context::new(event_loop.owned_display_handle())?;
        let surface = softbuffer::Surface::new(&display, Rc::clone(&window))?;
        let egui = egui::Context::default();
        let scale = window.scale_factor() as f32;
        let input = egui_winit::State::new(
            egui.clone(),
            ViewportId::ROOT,
            &window,
            Some(scale),
            window.theme(),
            None,
        );
        Ok(Screen {
            window,
            surface,
            egui,
            input,
            painter: EguiSoftwareRender::new(ColorFieldOrder::Bgra),
            draw_at: None,
            is_stale: Cell::new(true),
            drawn: 0,
        })
    }

    /// The next time the loop has nothing else to do, winit asks for a drawing: once, however often this is called.
    pub(crate) fn ask_to_draw(&self) {
        self.is_stale.set(true);
        self.window.request_redraw();
    }

    /// Whether what is to be seen is drawn, and nothing moves or fades.
    pub(crate) fn is_at_rest(&self) -> bool {
        !self.is_stale.get() && self.draw_at.is_none()
    }

    pub(crate) fn hear(&mut self, event: &WindowEvent) {
        if self.input.on_window_event(&self.window, event).repaint {
            self.ask_to_draw();
        }
    }

    /// Does as if the user had done this.
    pub(crate) fn pretend(&mut self, event: egui::Event) {
        self.input.egui_input_mut().events.push(event);
        self.ask_to_draw();
    }

    pub(crate) fn draw(&mut self, show: impl FnMut(&egui::Context)) -> Result<(), Box<dyn Error>> {
        self.is_stale.set(false);
        let input = self.input.take_egui_input(&self.window);
        let output = self.egui.run(input, show);
        self.input
            .handle_platform_output(&self.window, output.platform_output);
        self.draw_at = output
            .viewport_output
            .get(&ViewportId::ROOT)
            .filter(|viewport| viewport.repaint_delay < FOR_EVER)
            .map(|viewport| Instant::now() + viewport.repaint_delay);
        let triangles = self.egui.tessellate(output.shapes, output.pixels_per_point);

        let size = self.window.inner_size();
        // A window that is minimised has no size, and needs no picture.
        let (Some(width), Some(height)) =
            (NonZeroU32::new(size.width), NonZeroU32::new(size.height))
        else {
            return Ok(());
        };
        self.surface.resize(width, height)?;
        let mut pixels = self.surface.buffer_mut()?;
        pixels.fill(0);
        let mut target = BufferMutRef::new(
            bytemuck::cast_slice_mut(&mut pixels),
            size.width as usize,
            size.height as usize,
        );
        self.painter.render(
            &mut target,
            &triangles,
            &output.textures_delta,
            output.pixels_per_point,
        );
        pixels.present()?;
        self.drawn += 1;
        Ok(())
    }

    /// Saves what the window system shows of the window, as a PNG file.
    pub(crate) fn save_picture(&mut self, file: &Path) -> Result<(), Box<dyn Error>> {
        let size = self.window.inner_size();
        let bytes: Vec<u8> = self
            .surface
            .fetch()?
            .iter()
            .flat_map(|pixel| {
                let [_, red, green, blue] = pixel.to_be_bytes();
                [red, green, blue]
            })
            .collect();
        let mut picture = png::Encoder::new(std::fs::File::create(file)?, size.width, size.height);
        picture.set_color(png::ColorType::Rgb);
        picture.write_header()?.write_image_data(&bytes)?;
        Ok(())
    }
}
